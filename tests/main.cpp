// The one main() that every Catch2 test program shares.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
