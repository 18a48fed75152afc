import type { Channel } from '../../../gen/index.ts';
import { providerName } from '../../../parts/text/provider-names.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { CONNECTION_STATES } from './labels.ts';

export function ConnectionBadge({ channel: { connection } }: { channel: Channel }) {
  const { text, tone } = CONNECTION_STATES[connection.state];
  return (
    <Badge tone={tone} live={connection.state === 'connecting'}>
      {text}
    </Badge>
  );
}

/** The state of the connection with the product, and what to consider. */
export function Connection({ channel }: { channel: Channel }) {
  const { connection, provider, warnings } = channel;
  return (
    <div className="mb-5 flex flex-col gap-3">
      {connection.last_error && connection.state !== 'off' && (
        <p
          role={connection.state === 'failed' ? 'alert' : 'status'}
          className="rounded-xl border border-warn bg-warn-soft p-4 wrap-anywhere"
        >
          {providerName(provider)}: {connection.last_error}
          {connection.state === 'failed' && ' The connection is tried again when you change the channel.'}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="rounded-xl border border-warn bg-warn-soft p-4">
          {warning}
        </p>
      ))}
      <p className="text-[13px] text-muted">
        {connection.bot_name !== null && <span>Connected as {connection.bot_name}. </span>}
        {connection.last_event_at === null ? (
          'No events yet.'
        ) : (
          <span>
            Last event <Time at={connection.last_event_at} />.
          </span>
        )}
      </p>
    </div>
  );
}
