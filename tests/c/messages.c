/* Versions, names of codes, and the text of an error. */
#include "check.h"

static void versions_and_names_of_codes(void)
{
    CHECK(scmk_abi_version() == SCMK_ABI_VERSION);
    CHECK(strchr(scmk_version(), '.') != NULL);
    CHECK(strcmp(scmk_status_name(SCMK_OK), "SCMK_OK") == 0);
    CHECK(strcmp(scmk_status_name(SCMK_E_NOT_FINITE), "SCMK_E_NOT_FINITE") == 0);
    CHECK(strcmp(scmk_status_name(12345), "SCMK_E_UNKNOWN") == 0);
}

static void message_is_read_in_pieces_and_stays(void)
{
    scmk_model *model = NULL;
    size_t length = 7;
    char text[64];

    /* A new model has none. */
    OK(scmk_create(4, 2, &model));
    OK(scmk_error_message(model, text, sizeof text, &length));
    CHECK(text[0] == '\0' && length == 1);

    /* A message is read in pieces of any size. */
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "delta", 1));
    OK(scmk_error_message(model, NULL, 0, &length));
    CHECK(length > 5);
    memset(text, '#', sizeof text);
    OK(scmk_error_message(model, text, 5, NULL));
    CHECK(strlen(text) == 4 && text[5] == '#');
    OK(scmk_error_message(model, text, sizeof text, &length));
    CHECK(strlen(text) == (length < sizeof text ? length : sizeof text) - 1);
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_error_message(model, NULL, 1, NULL));

    /* A later call that succeeds leaves it. */
    OK(scmk_set_real(model, "alpha", 2));
    MESSAGE(model, "delta");
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(versions_and_names_of_codes),
        TEST(message_is_read_in_pieces_and_stays),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
