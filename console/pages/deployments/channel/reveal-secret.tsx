import type { Channel } from '../../../gen/index.ts';
import { RevealOnce } from '../../../parts/actions/reveal-once.tsx';
import { Code } from '../../../ui/code.tsx';

export interface RevealChannelSecretProps {
  channel: Channel;
  secret: string;
  onDone: () => void;
}

/** Shows the secret of a new channel of the provider http. */
export function RevealChannelSecret({ channel, secret, onDone }: RevealChannelSecretProps) {
  return (
    <RevealOnce
      wide
      noun="secret"
      description="The secret is shown only once and cannot be displayed again. If you lose it, create another channel."
      label="Shared secret"
      value={secret}
      onDone={onDone}
    >
      <p className="-mt-3 text-[13px] text-muted">
        The product signs its requests with this secret as Standard Webhooks describes. Store it where the
        product runs.
      </p>
      <section className="flex flex-col gap-1.5">
        <h3 className="font-medium">Callback URL</h3>
        <Code text={channel.callback_url} label="Callback URL" wrap />
      </section>
    </RevealOnce>
  );
}
