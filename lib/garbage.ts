import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How many bytes may have passed before the buffers that held them are collected. */
const PASSED_BYTES = 16 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

const nothing: Collect = () => {};

let passed = 0;
let collect: Collect | undefined;

/**
 * Says that so many bytes have gone by, in buffers that nobody needs any more. V8 collects what is young when small
 * objects fill the room for them, which takes long when nearly everything is bytes outside of its heap. Before that it
 * finds 64 MiB of those, and walks over the whole heap, many times a second. A round for the young alone finds the same
 * buffers, in less than a millisecond as long as little else that is young is still needed: with 20,000 such objects it
 * is one, with 100,000 three.
 */
export function letPass(bytes: number): void {
  passed += bytes;
  if (passed < PASSED_BYTES) return;
  passed = 0;
  collect ??= collector();
  collect({ type: 'minor' });
}

/** Node hands it out only to contexts that are made while it is exposed (https://nodejs.org/api/cli.html#--expose-gc). */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found: Collect | undefined = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  // Bytes pass without it, too, only not as well.
  return found ?? nothing;
}
