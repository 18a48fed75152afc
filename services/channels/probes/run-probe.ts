import type { ProbeWork } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelCheck } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { ProductError } from '../products/product-error.ts';
import type { ChannelReference } from '../work/channel-clients.ts';
import type { WorkerContext } from '../work/worker-context.ts';

/** Checks a channel at its product and reports the result. Never rejects. */
export async function runProbe(
  { probeId }: ProbeWork,
  reference: ChannelReference,
  signal: AbortSignal,
  { deployments, log }: Pick<WorkerContext, 'deployments' | 'log'>,
): Promise<void> {
  try {
    const checks = await reference.channel.client.probe(signal).catch(failedCheck);
    await deployments.reportProbe({ probeId, checks }, { signal });
  } catch (error) {
    log.info({ err: error, probeId }, 'a probe was not reported');
  } finally {
    reference.release();
  }
}

/** The message of an unexpected error can contain a token. */
export function failedCheck(error: unknown): ChannelCheck[] {
  const problem = error instanceof ProductError ? error.message : 'The product could not be asked.';
  return [{ name: 'token', ok: false, problem }];
}
