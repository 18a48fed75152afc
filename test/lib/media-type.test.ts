import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../lib/media-type.ts';

describe('mediaTypeOf', () => {
  it.each([
    ['src/main.ts', 'text/typescript'],
    ['App.TSX', 'text/typescript'],
    ['a.js', 'text/javascript'],
    ['a.tar.gz', 'application/gzip'],
    ['photo.JPG', 'image/jpeg'],
    ['ts', 'application/octet-stream'],
    ['folder.ts/file', 'application/octet-stream'],
    ['.gitignore', 'application/octet-stream'],
  ])('maps %s to %s', (path, type) => {
    expect(mediaTypeOf(path)).toBe(type);
  });
});
