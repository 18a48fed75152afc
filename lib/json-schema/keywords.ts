/** The keywords of JSON Schema, drafts 07 to 2020-12, by the form of their values. Other keywords are annotations. */
export type KeywordForm =
  | 'schema'
  | 'schema_or_list'
  | 'schema_list'
  | 'schema_map'
  | 'schema_or_names_map'
  | 'names_map'
  | 'names'
  | 'list'
  | 'type'
  | 'text'
  | 'identifier'
  | 'reference'
  | 'pattern'
  | 'pattern_map'
  | 'number'
  | 'positive'
  | 'count'
  | 'flag'
  | 'value';

const FORMS = {
  schema: [
    'additionalItems',
    'additionalProperties',
    'contains',
    'contentSchema',
    'else',
    'if',
    'not',
    'propertyNames',
    'then',
    'unevaluatedItems',
    'unevaluatedProperties',
  ],
  schema_or_list: ['items'],
  schema_list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  schema_map: ['$defs', 'definitions', 'dependentSchemas', 'properties'],
  schema_or_names_map: ['dependencies'],
  names_map: ['dependentRequired'],
  names: ['required'],
  list: ['enum', 'examples'],
  type: ['type'],
  text: [
    '$anchor',
    '$comment',
    '$dynamicAnchor',
    '$schema',
    'contentEncoding',
    'contentMediaType',
    'description',
    'format',
    'title',
  ],
  identifier: ['$id'],
  reference: ['$dynamicRef', '$recursiveRef', '$ref'],
  pattern: ['pattern'],
  pattern_map: ['patternProperties'],
  number: ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum'],
  positive: ['multipleOf'],
  count: [
    'maxContains',
    'maxItems',
    'maxLength',
    'maxProperties',
    'minContains',
    'minItems',
    'minLength',
    'minProperties',
  ],
  flag: ['$recursiveAnchor', 'deprecated', 'readOnly', 'uniqueItems', 'writeOnly'],
  value: ['const', 'default'],
} satisfies Record<KeywordForm, string[]>;

export const KEYWORDS: ReadonlyMap<string, KeywordForm> = new Map(
  Object.entries(FORMS).flatMap(([form, names]) => names.map((name) => [name, form as KeywordForm])),
);

export const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
