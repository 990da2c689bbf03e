// Between `bitwell capture` and the library that it puts in front of a program: a folder, and two files in
// it.
#pragma once

namespace bitwell::driver {

inline constexpr const char* kFolderVariable = "BITWELL_CAPTURE";  // of the environment: the folder
inline constexpr const char* kAskedFile = "asked.json";            // what the command asks for
inline constexpr const char* kToldFile = "told.jsonl";  // what it is told: a line a launch, a thing that is
                                                        // missing, or why the program was stopped

}  // namespace bitwell::driver
