import type { ProcessConfig } from './process-config.ts';
import { modulesOf } from './target.ts';

/** Returns a warning when pages of other origins act as the local administrator. */
export function allowedOriginsWarning({ target, common, edge }: ProcessConfig): string | undefined {
  const { allowedOrigins } = edge;
  const isServed = modulesOf(target).includes('edge');
  if (!isServed || common.authMode !== 'local' || allowedOrigins.length === 0) return undefined;
  return (
    `Web pages of ${allowedOrigins.join(', ')} act as the local administrator. ` +
    'To end this, remove them from SERVICE_ALLOWED_ORIGINS.'
  );
}
