// Prints the version through the C++ header.
#include <iostream>
#include <scmk.hpp>

int main()
{
    std::cout << scmk::version() << '\n';
}
