import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { connections, needsToken } from '../../api/connections.ts';
import { Button, type ButtonVariant } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../errors/error-state.tsx';
import { TokenForm } from './token-form.tsx';

export interface ConnectButtonProps {
  server: { mcpServerId: string; name: string; host: string };
  /** Path of this console to which the browser returns. */
  returnTo: string;
  text: string;
  /** Completes the text for screen readers. */
  about?: string;
  look?: ButtonVariant;
  small?: boolean;
  disabled?: boolean;
  /** Called when the user has connected with a token. */
  onConnected: () => void;
}

/**
 * Begins a connection in this tab: the browser goes to the authorization server and returns. A server without OAuth gets a
 * dialog for a token.
 */
export function ConnectButton(props: ConnectButtonProps) {
  const { server, returnTo, text, about, onConnected, ...look } = props;
  const { mcpServerId, name, host } = server;
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => connections.begin(mcpServerId, returnTo),
    onSuccess: (url) => location.assign(url),
    onError: (problem) => setAsking(needsToken(problem)),
  });
  return (
    <>
      {/* A long host wraps. */}
      <Button
        {...look}
        className="h-auto! min-h-8 max-w-full whitespace-normal! py-1 wrap-anywhere"
        busy={isPending}
        onClick={() => mutate()}
      >
        {text}
        {about && <span className="sr-only">{about}</span>}
      </Button>
      {error && !needsToken(error) && (
        <div className="basis-full">
          <ErrorAlert error={error} />
        </div>
      )}
      <Dialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Connect to ${name}`}
        description={`${host} has no login page for this service. Enter a token that you created there.`}
      >
        <TokenForm
          mcpServerId={mcpServerId}
          onConnected={() => {
            setAsking(false);
            onConnected();
          }}
        />
      </Dialog>
    </>
  );
}
