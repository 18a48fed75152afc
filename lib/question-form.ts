import type { FieldProblem } from './errors.ts';

/**
 * The form of a question to a person: a flat JSON Schema object, as in the elicitation of MCP
 * (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
 */
export interface QuestionForm {
  type: 'object';
  properties: Record<string, FormField>;
  required?: readonly string[];
}

interface FieldLabels {
  title?: string;
  description?: string;
}

export type FormField = FieldLabels &
  (
    | {
        type: 'string';
        minLength?: number;
        maxLength?: number;
        format?: TextFormat;
        enum?: readonly string[];
        oneOf?: readonly { const: string; title: string }[];
        default?: string;
      }
    | { type: 'number' | 'integer'; minimum?: number; maximum?: number; default?: number }
    | { type: 'boolean'; default?: boolean }
  );

export const TEXT_FORMATS = ['email', 'uri', 'date', 'date-time'] as const;
type TextFormat = (typeof TEXT_FORMATS)[number];

/** Returns the problems of an answer. The pointers are relative to the answer. */
export function answerProblems({ properties, required = [] }: QuestionForm, answer: unknown): FieldProblem[] {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    return [{ pointer: '', message: 'must be an object' }];
  const missing = required.filter((name) => !Object.hasOwn(answer, name));
  const invalid = Object.entries(answer).flatMap(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const message = field ? fieldProblem(field, value) : 'is not a field of the question';
    return message === undefined ? [] : [{ pointer: pointerTo(name), message }];
  });
  return [...missing.map((name) => ({ pointer: pointerTo(name), message: 'is required' })), ...invalid];
}

/** Returns the problem of a value for a field. Undefined for a valid value. */
export function fieldProblem(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be a boolean';
    case 'string':
      return typeof value === 'string' ? textProblem(field, value) : 'must be a string';
    case 'integer':
      return Number.isInteger(value) ? rangeProblem(field, Number(value)) : 'must be an integer';
    case 'number':
      return typeof value === 'number' ? rangeProblem(field, value) : 'must be a number';
  }
}

type TextField = Extract<FormField, { type: 'string' }>;
type NumberField = Extract<FormField, { type: 'number' | 'integer' }>;

function textProblem(field: TextField, value: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = field;
  const choices = field.enum ?? field.oneOf?.map((choice) => choice.const);
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(', ')}`;
  const length = [...value].length;
  if (length < minLength) return `must have at least ${minLength} characters`;
  if (length > maxLength) return `must have at most ${maxLength} characters`;
  return format === undefined || IS_FORMAT[format](value) ? undefined : `must be a valid ${format}`;
}

function rangeProblem({ minimum, maximum }: NumberField, value: number): string | undefined {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  return undefined;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

const IS_FORMAT: Record<TextFormat, (value: string) => boolean> = {
  email: (value) => EMAIL.test(value),
  uri: (value) => URL.canParse(value),
  date: (value) => DATE.test(value) && isDate(value),
  'date-time': (value) => TIME.test(value) && isDate(value.slice(0, 10)) && !Number.isNaN(Date.parse(value)),
};

/** Refuses days that the month does not have, which the parser would move into the next month. */
function isDate(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
