# Turns a text file into a C header that holds it as a string, so that the program needs no file
# beside it:  cmake -DFROM=reach.wgsl -DTO=reach_wgsl.h -DNAME=reach_wgsl -P embed.cmake
#
# As bytes: compilers need not take string literals of more than 4095 characters.

file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x0a,)" "\\1\n  " bytes "${bytes}")
file(WRITE "${TO}" "static const char ${NAME}[] = {\n  ${bytes}0x00};\n")
