import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../../lib/clock.ts';
import { threadEnvironment } from '../../../../lib/thread-environment.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import type { LineMatch, SearchQuery, SearchRequest, SearchResponse } from './messages.ts';

/** Time limit for one file or one list of paths. */
const REQUEST_TIMEOUT_MS = 5_000;
const HEAP_MIB = 128;
const PROGRAM = new URL('./worker.ts', import.meta.url);

/** Matches a pattern in a worker thread, which is terminated when the pattern takes too long. */
export class Searcher implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #exited: Promise<never>;

  constructor(query: SearchQuery, clock: Clock) {
    this.#clock = clock;
    this.#worker = new Worker(PROGRAM, {
      workerData: query,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      env: threadEnvironment(),
      stdout: true,
      stderr: true,
    });
    this.#exited = new Promise((_, reject) => {
      this.#worker.on('error', (cause) =>
        reject(
          isOutOfMemory(cause)
            ? new ToolError('The search needs too much memory.')
            : new ToolError('The search failed.', { cause }),
        ),
      );
      this.#worker.on('exit', () => reject(new ToolError('The search was stopped.')));
    });
    this.#exited.catch(() => {});
    this.#worker.unref();
  }

  /** Returns the paths that match the glob. */
  async filterPaths(paths: string[]): Promise<string[]> {
    const response = await this.#request({ paths });
    return 'matchingPaths' in response ? response.matchingPaths : [];
  }

  /** Returns the matching lines of a file. */
  async search(bytes: Uint8Array): Promise<LineMatch[]> {
    const response = await this.#request({ bytes });
    return 'lines' in response ? response.lines : [];
  }

  async #request(request: SearchRequest): Promise<SearchResponse> {
    const answered = Promise.withResolvers<SearchResponse>();
    const cancel = this.#clock.after(REQUEST_TIMEOUT_MS, () =>
      answered.reject(new ToolError('The pattern takes too long to match. Use a simpler pattern.')),
    );
    this.#worker.once('message', answered.resolve);
    this.#worker.postMessage(request);
    try {
      const response = await Promise.race([answered.promise, this.#exited]);
      if ('patternError' in response)
        throw new ToolError(`The pattern is not a valid regular expression: ${response.patternError}`);
      return response;
    } finally {
      cancel();
      this.#worker.off('message', answered.resolve);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
