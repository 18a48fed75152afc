import { type Static, Type } from 'typebox';
import { evaluate } from './calculator/expression.ts';
import { shown } from './calculator/fraction.ts';

const MAX_CHARS = 500;

const Input = Type.Object(
  {
    expression: Type.String({
      minLength: 1,
      maxLength: MAX_CHARS,
      description: 'For example (1 + 2.5) * 3 ^ 2. % is the remainder, with the sign of the left side.',
    }),
  },
  { additionalProperties: false },
);

/** The result as a decimal number: exact, or rounded to 50 digits and said to be so. */
export const calculator = {
  input: Input,
  run: ({ expression }: Static<typeof Input>): string => shown(evaluate(expression)),
};
