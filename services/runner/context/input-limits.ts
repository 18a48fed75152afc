/** The tokens of one request, as the service estimates them. */
export interface InputLimits {
  /** The longest input that the model accepts. */
  max: number;
  /** A longer input is shortened. */
  trigger: number;
  /** The longest answer that a request may ask for, in tokens of the provider. */
  output: number;
}

interface WindowFacts {
  /** The context window in tokens of the provider: input and answer together. */
  window: number;
  /** The longest answer that a request asks for. */
  maxOutput: number;
  /** The part of the input at which it is shortened. */
  threshold: number;
  /** Tokens of the provider in one estimated token. */
  ratio: number;
}

/** An answer that may take more of the window is limited to a quarter of it. */
const MAX_OUTPUT_PART = 0.5;
const LIMITED_OUTPUT_PART = 0.25;
/** Estimates of different texts are not equally wrong. */
const MARGIN = 1.03;

export function inputLimits({ window, maxOutput, threshold, ratio }: WindowFacts): InputLimits {
  const output = maxOutput > window * MAX_OUTPUT_PART ? Math.floor(window * LIMITED_OUTPUT_PART) : maxOutput;
  const max = Math.floor((window - output) / (Math.max(1, ratio) * MARGIN));
  return { max, trigger: Math.floor(max * threshold), output };
}
