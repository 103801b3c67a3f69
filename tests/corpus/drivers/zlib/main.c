/* Compresses standard input as a raw deflate stream with the dictionary in the
   first argument, expands the result with the dictionary in the second one,
   and prints it.

   A raw stream does not say which dictionary it needs: with another one of
   the same length the text comes out changed, and nobody complains. */

#include <stdio.h>
#include <string.h>

#include "zlib.h"

#define RAW (-MAX_WBITS)
#define CAPACITY (1 << 14)

static unsigned char text[CAPACITY], packed[CAPACITY], expanded[CAPACITY];

static unsigned long pack(unsigned long length, const char *dictionary)
{
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, RAW, 1, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    deflateSetDictionary(&stream, (const unsigned char *)dictionary, strlen(dictionary));
    stream.next_in = text;
    stream.avail_in = length;
    stream.next_out = packed;
    stream.avail_out = CAPACITY;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return stream.total_out;
}

static unsigned long expand(unsigned long length, const char *dictionary)
{
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, RAW) != Z_OK)
        return 0;
    inflateSetDictionary(&stream, (const unsigned char *)dictionary, strlen(dictionary));
    stream.next_in = packed;
    stream.avail_in = length;
    stream.next_out = expanded;
    stream.avail_out = CAPACITY;
    inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return stream.total_out;
}

int main(int argc, char **argv)
{
    unsigned long read, small, large;

    if (argc != 3)
        return 2;
    read = fread(text, 1, sizeof text, stdin);
    small = pack(read, argv[1]);
    large = expand(small, argv[2]);
    printf("%lu bytes, packed to %lu, expanded to %lu:\n", read, small, large);
    fwrite(expanded, 1, large, stdout);
    return 0;
}
