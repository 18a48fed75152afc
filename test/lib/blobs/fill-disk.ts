/*
 * Writes to a small disk until it is full, and prints the outcomes as JSON. test/real/blobs.test.ts runs it in a mount
 * namespace with a small tmpfs.
 */
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { Refusal } from '../../../lib/errors.ts';

const MIB = 1024 * 1024;
const blobs = await openDirectory(process.argv[2] ?? '');
const stored = await blobs.write([Buffer.alloc(MIB)]);
const code = await blobs.write(Array.from({ length: 64 }, () => Buffer.alloc(MIB))).then(
  () => 'OK',
  (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
);
const left = await Array.fromAsync(blobs.list());
const again = await blobs.write([Buffer.alloc(MIB)]).then(
  () => 'OK',
  (error: unknown) => String(error),
);
console.log(JSON.stringify({ code, left: left.map(({ key }) => key === stored.key), again }));
