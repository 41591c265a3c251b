# Sourced by the test scripts, so that all report alike: runs commands as tests and counts them.

passed=0
failed=0

# check NAME COMMAND...: one line when it succeeds; its output too when it fails.
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok      $name"
        passed=$((passed + 1))
    else
        echo "FAILED  $name: $*"
        printf '%s\n' "$output" | sed 's/^/        /'
        failed=$((failed + 1))
    fi
}

# Closes the report; fails if a test did, or if there was none.
report() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
