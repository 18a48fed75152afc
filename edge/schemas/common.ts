import { type TProperties, type TSchema, type TSchemaOptions, Type } from 'typebox';

/** Schemas with a `title` become components of the OpenAPI document under that name. */

/** An object of a request: what it does not name is refused. */
export const closed = <Members extends TProperties>(members: Members, options: object = {}) =>
  Type.Object(members, { additionalProperties: false, ...options });

export const nullable = <S extends TSchema>(schema: S, options: TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);
export const optional = Type.Optional;
/** For what is null as a rule. */
export const NULL = { examples: [null] };

export const text = (description: string, options: object = {}) => Type.String({ description, ...options });
export const count = (description: string, example = 1) =>
  Type.Integer({ minimum: 0, description, examples: [example] });
export const flag = (description: string, example = true) =>
  Type.Boolean({ description, examples: [example] });
export const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-01T12:00:00.000Z'] });

/** What an id looks like. Ids are opaque: the form is for readers, and nothing is checked by it. */
export const id = (prefix: string, description: string) =>
  Type.String({
    description: `${prefix}_…: ${description}`,
    examples: [`${prefix}_01KAK3V9Q6W1X2Y3Z4A5B6C7D8`],
  });

export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { minLength: 1, maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Texts of your own by name, at most 50. The service keeps them and does not read them.',
  examples: [{ team: 'support' }],
});

/** A JSON object that passes through. */
export const AnyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });

export const Usage = Type.Object(
  {
    input_tokens: count('Tokens sent to models.', 12),
    output_tokens: count('Tokens written by models.', 7),
    steps: count('Model steps taken.'),
    tool_calls: count('Tools called.', 0),
    active_seconds: Type.Number({ minimum: 0, description: 'Seconds in progress.', examples: [0.25] }),
  },
  { title: 'Usage', description: 'What was used so far.' },
);

export const Page = Type.Object(
  {
    next_cursor: nullable(
      Type.String({ description: 'Hand it over as `cursor` to get the next page.' }),
      NULL,
    ),
    has_more: flag('Whether there is a next page.', false),
  },
  { title: 'Page', description: 'Where a page of a list ends.' },
);

/** Of every list. A cursor belongs to its list, its filters and its caller. */
export const paging = {
  limit: optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'The most items of one page.' }),
  ),
  cursor: optional(
    Type.String({
      // It may hold a path of a file, and is a third longer than that.
      maxLength: 2000,
      description: 'The `page.next_cursor` of the page before, with the same filters.',
    }),
  ),
};

export const search = (description: string) => optional(Type.String({ maxLength: 200, description }));

/** The times and the page of the services, as the API shows them. */
export const shownTime = (time: Date | undefined): string => (time ?? new Date(0)).toISOString();
export const shownTimeOrNull = (time: Date | undefined): string | null => time?.toISOString() ?? null;

const DEFAULT_LIMIT = 50;
export const pageRequest = (query: { limit?: number; cursor?: string }) => ({
  limit: query.limit ?? DEFAULT_LIMIT,
  cursor: query.cursor ?? '',
});

export const deleted = (resource: string, shownId: ReturnType<typeof id>) =>
  Type.Object({ [`${resource}_id`]: shownId, deleted: Type.Literal(true) });
