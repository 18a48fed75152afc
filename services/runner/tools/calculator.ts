import { type Static, Type } from 'typebox';
import { evaluate } from './calculator/expression.ts';
import { toDecimalText } from './calculator/fraction.ts';

const MAX_CHARS = 500;

const Input = Type.Object(
  {
    expression: Type.String({
      minLength: 1,
      maxLength: MAX_CHARS,
      description: 'For example (1 + 2.5) * 3 ^ 2. % is the remainder, with the sign of the left operand.',
    }),
  },
  { additionalProperties: false },
);

/** Returns a decimal number: exact, or rounded to 50 digits and marked "(rounded)". */
export const calculator = {
  input: Input,
  run: ({ expression }: Static<typeof Input>): string => toDecimalText(evaluate(expression)),
};
