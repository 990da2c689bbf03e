// Only the headers that verify/test/CMakeLists.txt has precompiled.
