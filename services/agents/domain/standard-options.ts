import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';

type Rule = readonly [expected: string, holds: (value: unknown) => boolean];

const isNumber = (value: unknown) => typeof value === 'number';
const number: Rule = ['must be a number', isNumber];
const fraction: Rule = ['must be a number from 0 to 1', (value) => isNumber(value) && isWithin(value, 0, 1)];
const count: Rule = [
  'must be a whole number from 1 to 2147483647',
  (value) => Number.isInteger(value) && isWithin(value, 1, 2 ** 31 - 1),
];

/** The model options with the same meaning for every model. Other options go to the provider unchanged. */
const STANDARD_OPTIONS: Readonly<Record<string, Rule>> = {
  temperature: number,
  top_p: fraction,
  top_k: count,
  presence_penalty: number,
  frequency_penalty: number,
  stop_sequences: [
    'must be a list of non-empty strings',
    (value) => Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== ''),
  ],
  seed: ['must be a whole number', Number.isSafeInteger],
  max_output_tokens: count,
};

/** Reports standard options with values that no model accepts. */
export function checkStandardOptions(pointer: string, options: object, problems: FieldProblems): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(STANDARD_OPTIONS, name)) continue;
    const [expected, holds] = STANDARD_OPTIONS[name] ?? number;
    if (!holds(value)) problems.add(pointer + pointerSegment(name), expected);
  }
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}
