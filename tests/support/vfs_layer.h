/*
 * vfs_layer.h - a layer between SQLite and the disk that sees everything that changes a file: each
 * write, truncation, sync and deletion.  Tests make it count, fail or die.
 */
#ifndef CLO_TEST_VFS_LAYER_H
#define CLO_TEST_VFS_LAYER_H

#include <sqlite3.h>
#include <stdbool.h>

typedef struct layer_file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this struct */
} layer_file;

static sqlite3_vfs *layer_real;
static sqlite3_vfs layer_vfs;
static int layer_failure = SQLITE_IOERR_WRITE; /* what a failing operation fails with */
static bool (*layer_before)(void);             /* true: the operation fails */
static void (*layer_after)(void);

static inline bool layer_fails(void)
{
    return layer_before && layer_before();
}

static inline int layer_done(int code)
{
    if (layer_after) layer_after();
    return code;
}

static inline sqlite3_file *layer_under(sqlite3_file *file)
{
    return ((layer_file *)file)->real;
}

static inline int layer_close(sqlite3_file *f)
{
    return layer_under(f)->pMethods ? layer_under(f)->pMethods->xClose(layer_under(f)) : SQLITE_OK;
}
static inline int layer_read(sqlite3_file *f, void *to, int count, sqlite3_int64 at)
{
    return layer_under(f)->pMethods->xRead(layer_under(f), to, count, at);
}
static inline int layer_write(sqlite3_file *f, const void *from, int count, sqlite3_int64 at)
{
    if (layer_fails()) return layer_failure;
    return layer_done(layer_under(f)->pMethods->xWrite(layer_under(f), from, count, at));
}
static inline int layer_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (layer_fails()) return layer_failure;
    return layer_done(layer_under(f)->pMethods->xTruncate(layer_under(f), size));
}
static inline int layer_sync(sqlite3_file *f, int flags)
{
    if (layer_fails()) return layer_failure;
    return layer_done(layer_under(f)->pMethods->xSync(layer_under(f), flags));
}
static inline int layer_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return layer_under(f)->pMethods->xFileSize(layer_under(f), size);
}
static inline int layer_lock(sqlite3_file *f, int level)
{
    return layer_under(f)->pMethods->xLock(layer_under(f), level);
}
static inline int layer_unlock(sqlite3_file *f, int level)
{
    return layer_under(f)->pMethods->xUnlock(layer_under(f), level);
}
static inline int layer_reserved(sqlite3_file *f, int *out)
{
    return layer_under(f)->pMethods->xCheckReservedLock(layer_under(f), out);
}
static inline int layer_control(sqlite3_file *f, int what, void *value)
{
    return layer_under(f)->pMethods->xFileControl(layer_under(f), what, value);
}
static inline int layer_sector(sqlite3_file *f)
{
    return layer_under(f)->pMethods->xSectorSize(layer_under(f));
}
static inline int layer_device(sqlite3_file *f)
{
    return layer_under(f)->pMethods->xDeviceCharacteristics(layer_under(f));
}

static const sqlite3_io_methods layer_methods = {
    .iVersion = 1,
    .xClose = layer_close,
    .xRead = layer_read,
    .xWrite = layer_write,
    .xTruncate = layer_truncate,
    .xSync = layer_sync,
    .xFileSize = layer_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_reserved,
    .xFileControl = layer_control,
    .xSectorSize = layer_sector,
    .xDeviceCharacteristics = layer_device,
};

static inline int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
                             int *out)
{
    layer_file *file = (layer_file *)f;
    file->real = (sqlite3_file *)(file + 1);
    const int code = layer_real->xOpen(layer_real, name, file->real, flags, out);
    file->base.pMethods = file->real->pMethods ? &layer_methods : NULL;
    return code;
}

static inline int layer_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    if (layer_fails()) return SQLITE_IOERR_DELETE;
    return layer_done(layer_real->xDelete(layer_real, name, sync));
}

/* Deleted it is, but whether the folder was synced nobody knows. */
static inline int layer_delete_and_fail(sqlite3_vfs *vfs, const char *name, int sync)
{
    const int code = layer_real->xDelete(layer_real, name, sync);
    return layer_fails() && code == SQLITE_OK ? SQLITE_IOERR_DIR_FSYNC : code;
}

static inline int put_layer(void **state)
{
    layer_real = sqlite3_vfs_find(NULL);
    layer_vfs = *layer_real;
    layer_vfs.zName = "layer";
    layer_vfs.szOsFile += (int)sizeof(layer_file);
    layer_vfs.xOpen = layer_open;
    layer_vfs.xDelete = layer_delete;
    return sqlite3_vfs_register(&layer_vfs, 1);
}

static inline int take_layer(void **state)
{
    sqlite3_vfs_register(layer_real, 1);
    return sqlite3_vfs_unregister(&layer_vfs);
}

#endif
