import { refuse } from '../../../lib/errors.ts';
import { acceptsMediaType } from '../../../lib/model-media.ts';
import type { ModelTable } from '../../../lib/models/table.ts';

/**
 * Refused with CONTENT_NOT_SUPPORTED for the first media type that the model does not accept. The pointer of the problem
 * begins with its index. An empty media type is not checked.
 */
export function requireAcceptedMedia(table: ModelTable, model: string, mediaTypes: readonly string[]): void {
  const entry = table.find(model);
  const index = mediaTypes.findIndex((type) => type !== '' && acceptsMediaType(entry, type) === false);
  if (index < 0) return;
  const problem = `The model ${model} does not accept parts of the media type ${mediaTypes[index]}.`;
  throw refuse('CONTENT_NOT_SUPPORTED', problem, {
    details: [{ pointer: `/${index}/media_type`, message: `is not accepted by ${model}` }],
  });
}
