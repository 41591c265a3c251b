/* A check that goes on after a failure, and the count at the end. */
#ifndef CHECK_H
#define CHECK_H

#include <scmk.h>
#include <stdio.h>
#include <string.h>

static int check_passed, check_failed;

static void check_that(int truth, const char *what, const char *file, int line)
{
    if (truth) {
        check_passed++;
    } else {
        check_failed++;
        printf("FAILED %s:%d: %s\n", file, line, what);
    }
}

static void check_status(scmk_status got, scmk_status expected, const char *what, const char *file,
                         int line)
{
    if (got != expected)
        printf("%s instead of %s\n", scmk_status_name(got), scmk_status_name(expected));
    check_that(got == expected, what, file, line);
}

/* The call answers this status. */
#define STATUS(expected, call) check_status((call), (expected), #call, __FILE__, __LINE__)
#define OK(call) STATUS(SCMK_OK, call)
#define CHECK(truth) check_that((truth) != 0, #truth, __FILE__, __LINE__)

/* The model's message (or, for NULL, the thread's) has this text in it. */
#define MESSAGE(model, part) check_message((model), (part), __FILE__, __LINE__)

static void check_message(const scmk_model *model, const char *part, const char *file, int line)
{
    char text[512] = "";
    scmk_status status = scmk_error_message(model, text, sizeof text, NULL);
    int found = status == SCMK_OK && strstr(text, part) != NULL;
    if (!found)
        printf("message is \"%s\", without \"%s\"\n", text, part);
    check_that(found, "message", file, line);
}

static int check_result(void)
{
    /* Also uses what a test may not need. */
    (void)check_status;
    (void)check_message;
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed != 0;
}

#endif
