/** The settings of an agent that conversations and messages may override, by their names in the public API. */
export const OVERRIDABLE = [
  'model',
  'system',
  'tools',
  'client_tools',
  'model_options',
  'max_steps',
  'budget',
  'output_schema',
] as const;
export type Overridable = (typeof OVERRIDABLE)[number];
