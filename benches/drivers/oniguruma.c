/* Compiles each line of standard input as a regular expression, and says which ones are none. */

#include <stdio.h>
#include <string.h>

#include "oniguruma.h"

int main(void)
{
    static char line[1 << 16];
    OnigEncoding encodings[] = { ONIG_ENCODING_UTF8 };
    OnigErrorInfo info;
    regex_t *regex;

    onig_initialize(encodings, 1);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const OnigUChar *end = (OnigUChar *)line + strcspn(line, "\n");

        if (onig_new(&regex, (OnigUChar *)line, end, ONIG_OPTION_DEFAULT, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info) == 0)
            onig_free(regex);
        else
            printf("not an expression: %s", line);
    }
    onig_end();
    return 0;
}
