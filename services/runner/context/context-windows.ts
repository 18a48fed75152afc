import { chooseWindow, type KnownWindow } from '../../../lib/context-settings.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { LengthRefusal } from '../models/length-refusal.ts';

interface ModelExperience {
  /** The longest input that the model has accepted, in its tokens. */
  accepted: number;
  /** Tokens of the provider in one estimated token. */
  ratio: number;
}

/** Shares learned windows with other runners. */
export interface LearnedWindows {
  /** Resolves with undefined for a model without a learned window, and while it cannot be read. */
  find(model: string): Promise<number | undefined>;
  /** Never rejects. */
  store(model: string, window: number): Promise<void>;
}

interface ContextWindowsOptions {
  /** The table of models: the context window of a model in tokens, if it is known. */
  declaredWindow(model: string): number | undefined;
  learned: LearnedWindows;
}

const MAX_MODELS = 1_000;
/** Shorter requests say little about the ratio. */
const MIN_MEASURED = 500;
const MAX_RATIO = 8;
/** A refusal without numbers shows a window of at least this part of the request. */
const UNKNOWN_PART = 0.25;
const MIN_WINDOW = 1_000;

/** What a runner knows about the context windows of models, by their names `<provider>/<model id>`. */
export class ContextWindows {
  readonly #models = new LruCache<string, ModelExperience>(MAX_MODELS);
  readonly #options: ContextWindowsOptions;

  constructor(options: ContextWindowsOptions) {
    this.#options = options;
  }

  /** Undefined if the window is unknown. */
  async find(model: string, ofAgent: number | undefined): Promise<KnownWindow | undefined> {
    const { declaredWindow, learned } = this.#options;
    return chooseWindow({
      ...{ ofAgent, declared: declaredWindow(model) },
      learned: await learned.find(model),
    });
  }

  /** The window in tokens. Undefined if it is unknown. */
  async windowOf(model: string, ofAgent: number | undefined): Promise<number | undefined> {
    return (await this.find(model, ofAgent))?.window;
  }

  ratioOf(model: string): number {
    return this.#models.get(model)?.ratio ?? 1;
  }

  /** Notes the length of an input that the model has accepted. */
  accept(model: string, tokens: number, estimate: number): void {
    if (estimate < MIN_MEASURED || tokens <= 0) return;
    const { ratio, accepted } = this.#experience(model);
    // Falls slowly, because requests with other texts follow.
    const next = Math.max(bounded(tokens / estimate), ratio * 0.9);
    this.#models.set(model, { accepted: Math.max(accepted, tokens), ratio: next });
  }

  /** Learns from the refusal of an input. */
  async refuse(model: string, { tokens, limit }: LengthRefusal, estimate: number): Promise<void> {
    const { ratio, accepted } = this.#experience(model);
    const shown = Math.max(MIN_WINDOW, accepted, Math.floor((tokens ?? estimate) * UNKNOWN_PART));
    const window = limit ?? shown;
    const least = (tokens ?? window) / Math.max(1, estimate);
    this.#models.set(model, { accepted, ratio: Math.max(ratio, bounded(least)) });
    await this.#options.learned.store(model, window);
  }

  #experience(model: string): ModelExperience {
    return this.#models.get(model) ?? { accepted: 0, ratio: 1 };
  }
}

function bounded(ratio: number): number {
  return Math.min(MAX_RATIO, ratio);
}
