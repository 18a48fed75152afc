import type { CatalogueWarning } from '../../../gen/index.ts';

export const WARNING_TEXTS: Record<CatalogueWarning['kind'], string> = {
  invisible_characters: 'Invisible characters',
  control_characters: 'Control characters',
  instructions: 'Instructions to the model',
  other_tool_name: 'Names another tool',
};
