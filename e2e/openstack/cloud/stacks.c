/* Keeps the pieces of Python's stacks, for LD_PRELOAD.

Python 3.11 maps a piece of 16 KiB when a call crosses the end of the one before, and unmaps it at the return. Where a loop calls just
there, as in every answer of Nova, it does so a thousand times, which took half of nova-api's processor time. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { piece = 16384, most = 256 };

static void *pieces[most]; /* all that this file has given out as a piece */
static char unused[most];  /* of these */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* Nobody waits for the table: a process that was forked meanwhile would do so for ever. */
static int hold(void) { return !atomic_flag_test_and_set(&busy); }
static void release(void) { atomic_flag_clear(&busy); }

void *mmap(void *at, size_t length, int access, int flags, int file, off_t offset) {
  int wanted = !at && length == piece && access == (PROT_READ | PROT_WRITE) && flags == (MAP_PRIVATE | MAP_ANONYMOUS);
  if (wanted && hold()) {
    for (int i = 0; i < most; i++)
      if (unused[i]) {
        unused[i] = 0;
        release();
        return memset(pieces[i], 0, piece);
      }
    release();
  }
  void *got = (void *)syscall(SYS_mmap, at, length, access, flags, file, offset);
  if (wanted && got != MAP_FAILED && hold()) {
    for (int i = 0; i < most; i++)
      if (!pieces[i]) {
        pieces[i] = got;
        break;
      }
    release();
  }
  return got;
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

int munmap(void *at, size_t length) {
  if (!hold())
    /* A piece must not go while the table has it: it stays mapped, and nobody's. */
    return length == piece ? 0 : syscall(SYS_munmap, at, length);
  for (int i = 0; i < most; i++)
    if (at && pieces[i] == at) {
      unused[i] = length == piece;
      if (!unused[i])
        pieces[i] = 0;
      release();
      return length == piece ? 0 : syscall(SYS_munmap, at, length);
    }
  release();
  return syscall(SYS_munmap, at, length);
}
