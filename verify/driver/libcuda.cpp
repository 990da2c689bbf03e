// libcuda.so.1 for programs that link or open it: all that it has is the runtime library's, on which it
// depends.
extern "C" const char* bitwell_libcuda() { return "bitwell"; }
