import { type Static, Type } from 'typebox';
import { type FormField, fieldProblem, TEXT_FORMATS } from '../../../lib/question-form.ts';
import { ASK_USER, TOOLS } from '../../../lib/tools.ts';
import type { ClientTool } from './client-tool.ts';
import { createInputCheck } from './tool.ts';

const MAX_FIELDS = 50;
const MAX_CHOICES = 200;

const optional = Type.Optional;
const text = (maxLength: number) => Type.String({ maxLength });
const length = Type.Integer({ minimum: 0 });

const Field = Type.Object(
  {
    type: Type.Enum(['string', 'number', 'integer', 'boolean']),
    title: optional(text(200)),
    description: optional(text(2_000)),
    default: optional(Type.Unknown()),
    minLength: optional(length),
    maxLength: optional(length),
    format: optional(Type.Enum([...TEXT_FORMATS])),
    enum: optional(Type.Array(text(1_000), { minItems: 1, maxItems: MAX_CHOICES, uniqueItems: true })),
    enumNames: optional(Type.Array(text(1_000), { maxItems: MAX_CHOICES })),
    oneOf: optional(
      Type.Array(Type.Object({ const: text(1_000), title: text(1_000) }, { additionalProperties: false }), {
        minItems: 1,
        maxItems: MAX_CHOICES,
        description: 'Choices with titles, instead of `enum`.',
      }),
    ),
    minimum: optional(Type.Number()),
    maximum: optional(Type.Number()),
  },
  { additionalProperties: false },
);

const Input = Type.Object(
  {
    question: Type.String({ minLength: 1, maxLength: 10_000 }),
    schema: Type.Object(
      {
        $schema: optional(Type.String()),
        type: Type.Literal('object'),
        title: optional(text(200)),
        description: optional(text(2_000)),
        properties: Type.Record(Type.String(), Field, { maxProperties: MAX_FIELDS }),
        required: optional(Type.Array(Type.String(), { maxItems: MAX_FIELDS })),
        additionalProperties: optional(Type.Literal(false)),
      },
      {
        additionalProperties: false,
        description: 'The form of the answer. Each property is one field.',
      },
    ),
  },
  { additionalProperties: false },
);

type QuestionField = Static<typeof Field>;

/** The members of a field beside type, labels and default, by type. */
const MEMBERS: Record<QuestionField['type'], readonly (keyof QuestionField)[]> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
};
const COMMON: readonly string[] = ['type', 'title', 'description', 'default'];

const formProblemOf = createInputCheck(Input);

/** Asks a person a question with a form, as the elicitation of MCP does. */
export const askUser: ClientTool = {
  name: ASK_USER,
  callKind: 'input',
  definition: {
    type: 'function',
    name: ASK_USER,
    description: TOOLS[ASK_USER].about,
    // Converted through JSON, because schemas of typebox have members that only the library reads.
    inputSchema: JSON.parse(JSON.stringify(Input)),
  },
  inputProblem: (input) => formProblemOf(input) ?? contentProblem(input as Static<typeof Input>),
};

/** Returns the first problem of a question that has the right form. */
function contentProblem({ schema: { properties, required = [] } }: Static<typeof Input>): string | undefined {
  const unknown = required.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) return `/schema/required names ${unknown}, which is not a property`;
  for (const [name, field] of Object.entries(properties)) {
    const problem = problemOfField(field);
    if (problem !== undefined) return `/schema/properties/${name} ${problem}`;
  }
  return undefined;
}

function problemOfField(field: QuestionField): string | undefined {
  const other = Object.keys(field).find(
    (member) => !COMMON.includes(member) && !MEMBERS[field.type].some((known) => known === member),
  );
  if (other !== undefined) return `of type ${field.type} cannot have ${other}`;
  if (field.enum && field.oneOf) return 'must have either enum or oneOf';
  if (field.enumNames && field.enumNames.length !== field.enum?.length)
    return 'must have one of enumNames for each value of enum';
  if (isEmptyRange(field.minLength, field.maxLength) || isEmptyRange(field.minimum, field.maximum))
    return 'must not have a minimum above its maximum';
  const problem = field.default === undefined ? undefined : fieldProblem(field as FormField, field.default);
  return problem === undefined ? undefined : `has a default that ${problem}`;
}

function isEmptyRange(min: number | undefined, max: number | undefined): boolean {
  return min !== undefined && max !== undefined && min > max;
}
