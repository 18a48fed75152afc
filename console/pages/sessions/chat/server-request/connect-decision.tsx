import { ConnectButton } from '../../../../parts/connections/connect-button.tsx';
import { Button } from '../../../../ui/button.tsx';
import { toast } from '../../../../ui/toast.tsx';
import type { DecisionProps } from '../decision.ts';

/** Why a call lacks a credential, by the reason of its approval. */
const REASONS: Record<string, string> = {
  none: 'No credential is set up for this server.',
  not_connected: 'You are not connected to this server.',
  expired: 'The connection has expired.',
  refused: 'The server has refused the credential.',
  scope: 'The connection lacks a permission that the call needs.',
  disabled: 'The credential is disabled.',
  vault_sealed: 'The credential cannot be opened now.',
  unavailable: 'The credential cannot be checked now.',
};

/** Reasons that a new connection of the user does not change. */
const OTHER_REASONS: ReadonlySet<string> = new Set(['disabled', 'vault_sealed', 'unavailable']);

/** Card for calls to a server for which there is no credential. When the user connects, the service decides the approval. */
export function ConnectDecision({ approval, busy, onDecide, curlOf }: DecisionProps) {
  const { mcp_server_id: mcpServerId = '', name = '', host = '', reason = '' } = approval.details ?? {};
  const { who, scopes = [] } = approval.details ?? {};
  const canConnect = who === 'you' && !OTHER_REASONS.has(reason);
  const title = host === '' ? `Connect to ${name}` : `Connect to ${name} (${host})`;
  // Names the server, because several approvals can be pending.
  const which = <span className="sr-only">: {name}</span>;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium wrap-anywhere">{title}</legend>
      <p className="text-[13px] text-muted">
        {REASONS[reason] ?? 'There is no credential for this server.'}{' '}
        {who === 'administrator'
          ? 'An administrator can provide access.'
          : canConnect && 'The turn continues by itself when you have connected.'}
      </p>
      {scopes.length > 0 && (
        <p className="text-[13px] text-muted wrap-anywhere">The server asks for: {scopes.join(', ')}</p>
      )}
      <div className="flex flex-wrap gap-2">
        {canConnect && (
          <ConnectButton
            server={{ mcpServerId, name, host }}
            returnTo={location.pathname + location.search}
            text={title}
            small
            look="primary"
            disabled={busy}
            onConnected={() => toast.done(`Connected to ${name}.`)}
          />
        )}
        <Button
          small
          look={canConnect ? 'secondary' : 'primary'}
          busy={busy}
          onClick={() => onDecide({ decision: 'retry' })}
        >
          Try again
          {which}
        </Button>
        <Button small busy={busy} onClick={() => onDecide({ decision: 'deny' })}>
          Go on without
          {which}
        </Button>
        {curlOf({ decision: 'retry' })}
      </div>
    </fieldset>
  );
}
