/** The thread that unpacks one archive. Archives are hostile, so the main thread ends this one when it takes too long. */
import { parentPort, workerData } from 'node:worker_threads';
import type { UnpackTask } from './messages.ts';
import { readArchive, resultOf } from './read-archive.ts';

// Streams of the libraries can emit an error when nothing listens any more, even before the refusal is sent.
process.on('uncaughtException', (error) => parentPort?.postMessage(resultOf(error)));
parentPort?.postMessage(await readArchive(workerData as UnpackTask));
