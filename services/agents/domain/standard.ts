import { type Problems, step } from './problems.ts';

type Rule = readonly [expected: string, holds: (value: unknown) => boolean];

const isNumber = (value: unknown) => typeof value === 'number';
const number: Rule = ['must be a number', isNumber];
const part: Rule = ['must be a number from 0 to 1', (value) => isNumber(value) && isWithin(value, 0, 1)];
const count: Rule = [
  'must be a whole number from 1 to 2147483647',
  (value) => Number.isInteger(value) && isWithin(value, 1, 2 ** 31 - 1),
];

/** The model options that mean the same to every model. What else there is goes to the provider as it is. */
const STANDARD: Readonly<Record<string, Rule>> = {
  temperature: number,
  top_p: part,
  top_k: count,
  presence_penalty: number,
  frequency_penalty: number,
  stop_sequences: [
    'must be a list of texts that are not empty',
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
  ],
  seed: ['must be a whole number', Number.isSafeInteger],
  max_output_tokens: count,
};

/** Reports standard options of a form that no model would take. */
export function checkStandard(pointer: string, options: object, problems: Problems): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(STANDARD, name)) continue;
    const [expected, holds] = STANDARD[name] ?? number;
    if (!holds(value)) problems.add(pointer + step(name), expected);
  }
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}
