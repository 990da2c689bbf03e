# Writes OUT, a header with the commit that the sources are of.
cmake_minimum_required(VERSION 3.23)
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define BITWELL_COMMIT \"@commit@\"\n" @ONLY)
