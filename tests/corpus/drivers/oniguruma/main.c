/* Searches each line of standard input for the regular expression in the first
   argument, and prints the first match of each line with its groups. */

#include <stdio.h>
#include <string.h>

#include "oniguruma.h"

static void print_match(const char *line, const OnigRegion *region)
{
    int i;

    for (i = 0; i < region->num_regs; i++)
        printf("%s%.*s", i > 0 ? " | " : "", region->end[i] - region->beg[i], line + region->beg[i]);
    printf("\n");
}

static void search(regex_t *regex, const char *line, OnigRegion *region)
{
    const OnigUChar *begin = (const OnigUChar *)line;
    const OnigUChar *end = begin + strlen(line);

    if (onig_search(regex, begin, end, begin, end, region, ONIG_OPTION_NONE) >= 0)
        print_match(line, region);
    else
        printf("no match\n");
    onig_region_clear(region);
}

static regex_t *compile(const char *pattern)
{
    regex_t *regex = NULL;
    OnigErrorInfo info;
    const OnigUChar *begin = (const OnigUChar *)pattern;
    int status = onig_new(&regex, begin, begin + strlen(pattern), ONIG_OPTION_DEFAULT, ONIG_ENCODING_UTF8,
                          ONIG_SYNTAX_DEFAULT, &info);

    return status == ONIG_NORMAL ? regex : NULL;
}

int main(int argc, char **argv)
{
    static char line[1024];
    OnigEncoding encodings[] = { ONIG_ENCODING_UTF8 };
    OnigRegion *region;
    regex_t *regex;

    onig_initialize(encodings, 1);
    if (argc != 2 || (regex = compile(argv[1])) == NULL)
        return 2;
    region = onig_region_new();
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        search(regex, line, region);
    }
    onig_region_free(region, 1);
    onig_free(regex);
    onig_end();
    return 0;
}
