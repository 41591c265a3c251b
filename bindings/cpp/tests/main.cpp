// The tests are in the other files.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <malloc.h>

int main(int argc, char **argv) {
    // Large blocks go back to the system at once. Otherwise what earlier tests gave back would be
    // taken again, and those that measure memory would not see it.
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
    return doctest::Context(argc, argv).run();
}
