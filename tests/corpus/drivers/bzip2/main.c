/* Compresses each line of standard input to a bzip2 stream of its own, puts
   the streams one behind the other, as `cat a.bz2 b.bz2` does, expands them
   again and prints the text.

   The reader ends where the first stream ends: only the first line comes
   out. */

#include <stdio.h>
#include <string.h>

#include "bzlib.h"

#define CAPACITY (1 << 14)

static char line[1024], packed[CAPACITY], expanded[CAPACITY];

static unsigned int pack_lines(void)
{
    unsigned int used = 0;

    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned int room = CAPACITY - used;

        if (BZ2_bzBuffToBuffCompress(packed + used, &room, line, strlen(line), 1, 0, 0) != BZ_OK)
            return 0;
        used += room;
    }
    return used;
}

static unsigned int expand(unsigned int length)
{
    bz_stream stream;
    int status = BZ_OK;

    memset(&stream, 0, sizeof stream);
    if (BZ2_bzDecompressInit(&stream, 0, 1) != BZ_OK)
        return 0;
    stream.next_in = packed;
    stream.avail_in = length;
    stream.next_out = expanded;
    stream.avail_out = CAPACITY;
    while (status == BZ_OK)
        status = BZ2_bzDecompress(&stream);
    BZ2_bzDecompressEnd(&stream);
    return stream.total_out_lo32;
}

int main(void)
{
    unsigned int small = pack_lines();
    unsigned int large = expand(small);

    printf("%u bytes expanded to %u:\n", small, large);
    fwrite(expanded, 1, large, stdout);
    return 0;
}

/* The library calls this instead of printing, as BZ_NO_STDIO is defined. */
void bz_internal_error(int code)
{
    fprintf(stderr, "bzip2: internal error %d\n", code);
}
