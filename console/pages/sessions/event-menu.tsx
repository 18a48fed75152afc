import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Braces, Ellipsis, GitFork, Link, Terminal, TextQuote } from 'lucide-react';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { useIdempotencyKeys } from '../../parts/actions/idempotency-key.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText, toast } from '../../ui/toast.tsx';

export interface EventMenuProps {
  session: Session;
  seq: number;
  /** Text for the Copy text item. */
  text?: string;
  mayFork: boolean;
  onRaw?: (event: number) => void;
}

/** Menu with the actions of an event. */
export function EventMenu({ session, seq, text, mayFork, onRaw }: EventMenuProps) {
  const fork = useFork(session);
  const curlOf = useCurl();
  const link = () => {
    const url = new URL(location.href);
    url.searchParams.set('event', String(seq));
    return url.href;
  };
  return (
    <Menu trigger={<IconButton label={`Actions for event ${seq}`} icon={<Ellipsis />} className="size-6!" />}>
      {text && (
        <MenuItem icon={<TextQuote />} onSelect={() => void copyText(text)}>
          Copy text
        </MenuItem>
      )}
      <MenuItem icon={<Link />} onSelect={() => void copyText(link())}>
        Copy link
      </MenuItem>
      {onRaw && (
        <MenuItem icon={<Braces />} onSelect={() => onRaw(seq)}>
          Show event
        </MenuItem>
      )}
      {mayFork && (
        <MenuItem icon={<GitFork />} onSelect={() => fork(seq)}>
          Fork from here
        </MenuItem>
      )}
      {mayFork && (
        <MenuItem
          icon={<Terminal />}
          onSelect={() => void copyText(curlOf({ ...forkRequest(session, seq) }))}
        >
          Copy as curl: fork
        </MenuItem>
      )}
    </Menu>
  );
}

const forkRequest = ({ session_id: sessionId }: Session, seq: number) => ({
  method: 'POST' as const,
  path: `/sessions/${sessionId}/fork`,
  body: { after_seq: seq },
});

/** Forks the session after an event and opens the fork. */
function useFork(session: Session): (seq: number) => void {
  const navigate = useNavigate();
  const { keyFor, renew } = useIdempotencyKeys();
  const { mutate } = useMutation({
    mutationFn: (afterSeq: number) => sessions.fork(session.session_id, afterSeq, keyFor(afterSeq)),
    onSuccess: ({ session_id: sessionId }) => {
      renew();
      toast.done('Session forked. The original session is unchanged.');
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } });
    },
    onError: (error) => toast.failed('The session could not be forked.', messageOf(error)),
  });
  return mutate;
}
