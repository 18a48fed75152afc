/** A field of the form that a call of `ask_user` requests. The runner has checked its schema. */
export interface QuestionField {
  name: string;
  label: string;
  hint: string | undefined;
  isRequired: boolean;
  input:
    | { kind: 'text'; type: 'text' | 'email' | 'url' | 'date' }
    | { kind: 'number'; isInteger: boolean }
    | { kind: 'boolean' }
    | { kind: 'choice'; options: readonly { value: string; text: string }[] };
  /** The initial text of the field; `true` or `false` for a boolean. */
  initial: string;
}

export interface Question {
  text: string;
  fields: readonly QuestionField[];
}

/** The texts of the fields by name, as the user has edited them. */
export type FieldTexts = Readonly<Record<string, string>>;

/** Reads the input of a call of `ask_user`. Undefined for an input of another form. */
export function questionOf(input: unknown): Question | undefined {
  const { question, schema } = objectOf(input);
  const { properties, required } = objectOf(schema);
  if (typeof question !== 'string' || typeof properties !== 'object' || properties === null) return undefined;
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, field]) =>
    fieldOf(name, objectOf(field), names.includes(name)),
  );
  return { text: question, fields };
}

function fieldOf(name: string, schema: Record<string, unknown>, isRequired: boolean): QuestionField {
  const { title, description, default: initial } = schema;
  return {
    name,
    label: typeof title === 'string' && title !== '' ? title : name,
    hint: typeof description === 'string' && description !== '' ? description : undefined,
    isRequired,
    input: inputOf(schema),
    initial: initial === undefined ? (schema.type === 'boolean' ? 'false' : '') : String(initial),
  };
}

const TEXT_TYPES: Record<string, 'email' | 'url' | 'date'> = { email: 'email', uri: 'url', date: 'date' };

function inputOf({ type, format, enum: values, oneOf }: Record<string, unknown>): QuestionField['input'] {
  if (Array.isArray(oneOf))
    return {
      kind: 'choice',
      options: oneOf.map(objectOf).map((option) => ({
        value: String(option.const),
        text: typeof option.title === 'string' ? option.title : String(option.const),
      })),
    };
  if (Array.isArray(values))
    return {
      kind: 'choice',
      options: values.map((value) => ({ value: String(value), text: String(value) })),
    };
  if (type === 'boolean') return { kind: 'boolean' };
  if (type === 'number' || type === 'integer') return { kind: 'number', isInteger: type === 'integer' };
  return { kind: 'text', type: TEXT_TYPES[String(format)] ?? 'text' };
}

/** The answer with the texts as values of the fields' types. Optional fields without a text are left out. */
export function answerOf(
  fields: readonly QuestionField[],
  texts: FieldTexts,
): { answer: Record<string, unknown>; problems: Readonly<Record<string, string>> } {
  const answer: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { name, input, initial, isRequired } of fields) {
    const text = texts[name] ?? initial;
    if (text.trim() === '') {
      if (isRequired) problems[name] = 'This field is required.';
    } else if (input.kind === 'boolean') answer[name] = text === 'true';
    else if (input.kind === 'number') {
      const value = Number(text);
      if (!Number.isFinite(value)) problems[name] = 'Enter a number.';
      else if (input.isInteger && !Number.isInteger(value)) problems[name] = 'Enter a whole number.';
      else answer[name] = value;
    } else answer[name] = text;
  }
  return { answer, problems };
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
