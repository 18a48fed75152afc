/** The numbers in the refusal of a request that is too long, in tokens. Undefined where the provider does not tell them. */
export interface LengthRefusal {
  /** The tokens of the request, with or without the tokens of the answer. */
  tokens?: number | undefined;
  /** The context window of the model. */
  limit?: number | undefined;
}

/** Kinds of errors, without case and separators. */
const KINDS = /contextlength|contextwindow|exceedcontextsize|stringabovemaxlength/;

/** How providers and servers word the refusal. Not a rate limit, which also speaks of tokens. */
const MESSAGES =
  /prompt is too long|input is too long|exceeds? (?:the |this )?(?:model'?s? )?(?:available )?context|context limit|maximum context length|context length (?:of only|exceeded)|maximum (?:model|input|sequence) length|maximum number of tokens allowed|context window|too large for model with|input tokens exceeded|input token count is \d+ but model only supports|must be <= \d+\. given/i;

const NUMBER = '([\\d,_]+)';
const patterns = (...texts: string[]) => texts.map((text) => new RegExp(text.replaceAll('N', NUMBER), 'i'));

const TOKENS = patterns(
  // Anthropic
  'N tokens > N maximum',
  // OpenAI and servers that imitate it
  '\\(N in the messages',
  '\\(N in (?:your )?prompt',
  'resulted in N tokens',
  'requested N tokens',
  'requested about N tokens',
  'length N\\) is longer',
  'token count \\(N\\)',
  'contains N tokens',
  'given: N `inputs` tokens',
  'request \\(N tokens\\)',
  // Vertex AI
  'token count is N',
);
const LIMITS = patterns(
  'tokens > N maximum',
  'context limit: \\d+ \\+ \\d+ > N',
  'maximum context length (?:is|of) N',
  'N maximum context length',
  'model length of N',
  'context size \\(N',
  'context length of only N',
  'tokens allowed \\(N\\)',
  'must be <= N',
  'context window (?:is|of) N',
  'only supports up to N',
);

/**
 * Recognizes the refusal of a request that is too long. Undefined for every other error. `kind` is the kind of the error
 * without case and separators.
 */
export function lengthRefusalOf(status: number, kind: string, message: string): LengthRefusal | undefined {
  const isNamed = KINDS.test(kind);
  if (!isNamed && (status === 429 || status === 401 || status === 403 || !MESSAGES.test(message)))
    return undefined;
  const sum = /context limit: (\d+) \+ \d+ > \d+/i.exec(message)?.[1];
  return { tokens: sum === undefined ? find(TOKENS, message) : Number(sum), limit: find(LIMITS, message) };
}

function find(expressions: readonly RegExp[], message: string): number | undefined {
  for (const expression of expressions) {
    const digits = expression.exec(message)?.[1]?.replace(/\D/g, '');
    if (digits) return Number(digits);
  }
  return undefined;
}
