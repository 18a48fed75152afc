import type { Call } from '../../../lib/grpc/contract.ts';
import { missingProviders } from '../domain/model-list.ts';
import { type ModelProviders, namesOptionalProvider } from '../domain/models.ts';
import type { AgentsHandlerContext } from './context.ts';

/** The fields of a request that can name models. */
interface ModelNames {
  model?: string | undefined;
  models?: { names: readonly string[] } | undefined;
  context?: { model?: string | undefined } | undefined;
  /** JSON with a model. */
  overridesJson?: string | undefined;
}

/** Returns the providers whose models a request can name. Reads the runners only if it names an optional provider. */
export async function modelProvidersFor(
  { model = '', models, context, overridesJson = '' }: ModelNames,
  { endpoints, runners, clock }: Pick<AgentsHandlerContext, 'endpoints' | 'runners' | 'clock'>,
  call: Call,
): Promise<ModelProviders> {
  const texts = [model, ...(models?.names ?? []), context?.model ?? '', overridesJson];
  const missing = texts.some(namesOptionalProvider)
    ? missingProviders(await runners.list(clock.now(), call))
    : [];
  return { endpoints, missingProviders: missing };
}
