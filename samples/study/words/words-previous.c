/* Count lines, words and letters of a text, and tell its longest word. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char longest[40], word[40];
static int lines, words, letters, length;

static void end_of_word(void) {
    if (length == 0)
        return;
    word[length] = 0;
    words++;
    if (strlen(word) > strlen(longest))
        strcpy(longest, word);
    length = 0;
}

int main(void) {
    int c, capitals = 0, previous = ' ';
    while ((c = getchar()) != EOF) {
        if (isalpha(c)) {
            letters++;
            if (isupper(c) && !isalpha(previous))
                capitals++;
            if (length < 39)
                word[length++] = c;
        } else {
            end_of_word();
            if (c == '\n')
                lines++;
        }
        previous = word[0];
    }
    end_of_word();
    printf("%d lines, %d words, %d letters\n", lines, words, letters);
    if (words > 0)
        printf("longest %s, %d capitalised\n", longest, capitals);
    return 0;
}
