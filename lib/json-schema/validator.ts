import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { Semaphore } from '../semaphore.ts';
import { threadEnvironment } from '../thread-environment.ts';
import type { ValidationOutcome, ValidationRequest } from './messages.ts';

const VALIDATION_TIMEOUT_MS = 1_000;
const HEAP_MIB = 64;
const PROGRAM = new URL('./main.js', import.meta.url);

/**
 * Validates JSON texts against JSON Schemas in a worker thread. No schema and no text can block the caller's thread, take
 * longer than the time limit or use more than its heap. One thread serves all validations, in order; it starts
 * with the first one.
 */
export class SchemaValidator implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #turns = new Semaphore(1);
  #thread: ValidationThread | undefined;

  /** `timeoutMs` is the time limit of one validation, without the start of the thread. */
  constructor(clock: Clock, timeoutMs = VALIDATION_TIMEOUT_MS) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** `request.schemaJson` must be a schema without problems (`findSchemaProblem`). */
  async validate(request: ValidationRequest, signal?: AbortSignal): Promise<ValidationOutcome> {
    return this.#turns.run(
      async () => {
        this.#thread ??= new ValidationThread(this.#clock, this.#timeoutMs);
        try {
          return await this.#thread.validate(request);
        } finally {
          if (this.#thread.ended) this.#thread = undefined;
        }
      },
      { signal },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }
}

class ValidationThread {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;
  /** Resolves when the thread has used too much memory, and rejects when it has ended for another reason. */
  readonly #exit: Promise<ValidationOutcome>;
  ended = false;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#worker = new Worker(PROGRAM, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: HEAP_MIB / 4 },
      env: threadEnvironment(),
      stdout: true,
      stderr: true,
    });
    this.#ready = this.#response();
    this.#exit = new Promise((resolve, reject) => {
      this.#worker.on('error', (cause) => {
        if ((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
          resolve({ kind: 'too_expensive', message: 'The validation needs too much memory.' });
        else reject(new Error('The validation of a value failed.', { cause }));
      });
      this.#worker.on('exit', () => {
        this.ended = true;
        reject(new Error('The validation of a value was stopped.'));
      });
    });
    this.#exit.catch(() => {});
    this.#worker.unref();
  }

  async validate(request: ValidationRequest): Promise<ValidationOutcome> {
    await Promise.race([this.#ready, this.#exit]);
    const response = this.#response();
    const timeout = Promise.withResolvers<ValidationOutcome>();
    const cancel = this.#clock.after(this.#timeoutMs, () =>
      timeout.resolve({ kind: 'too_expensive', message: 'The validation takes too long.' }),
    );
    this.#worker.postMessage(request);
    try {
      const outcome = await Promise.race([response, this.#exit, timeout.promise]);
      if (outcome.kind === 'too_expensive') await this.terminate();
      return outcome;
    } finally {
      cancel();
    }
  }

  #response(): Promise<ValidationOutcome> {
    return new Promise((resolve) => this.#worker.once('message', resolve));
  }

  async terminate(): Promise<void> {
    this.ended = true;
    await this.#worker.terminate();
  }
}
