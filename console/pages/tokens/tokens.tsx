import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { tokens } from '../../api/tokens.ts';
import type { Token } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { DeleteToken } from './delete.tsx';
import { TokenForm } from './form.tsx';
import { RevealToken } from './reveal-token.tsx';

const COLUMNS: readonly Column<Token>[] = [
  { name: 'Name', cell: (token) => <TokenCell token={token} /> },
  { name: 'Scopes', className: 'w-52', cell: (token) => <ScopeBadges token={token} /> },
  { name: 'Created', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  { name: 'Last used', className: 'w-36', cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'Never') },
  { name: 'Expires', className: 'w-36', cell: ({ expires_at: at }) => (at ? <Time at={at} /> : 'Never') },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-16 text-end',
    cell: (token) => <DeleteToken token={token} />,
  },
];

export function TokensPage() {
  const { isTeam } = useViewer();
  return isTeam ? <MyTokens /> : <NoTokensNeeded />;
}

function MyTokens() {
  const [isCreating, setCreating] = useState(false);
  // The only copy of the value, from the response until the user has stored it.
  const [value, setValue] = useState<string>();
  const list = useList(tokens.list());
  const create = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      New token
    </Button>
  );
  return (
    <Page
      title="Tokens"
      lead="Tokens authenticate programs with your permissions."
      wide
      actions={
        <>
          <CopyCurl path="/auth/tokens" />
          {create}
        </>
      }
    >
      <Listing
        noun="tokens"
        list={list}
        keyOf={({ token_id: id }) => id}
        columns={COLUMNS}
        card={(token) => <TokenCard token={token} />}
        curl={{ path: '/auth/tokens' }}
        empty={
          <EmptyState icon={<KeyRound />} action={create}>
            No tokens yet. Tokens can be created only in the console, not through the API with a token.
          </EmptyState>
        }
      />
      <Dialog open={isCreating} onClose={() => setCreating(false)} title="New token">
        <TokenForm
          onCreated={(created) => {
            setCreating(false);
            setValue(created);
          }}
        />
      </Dialog>
      {value !== undefined && <RevealToken value={value} onDone={() => setValue(undefined)} />}
    </Page>
  );
}

function NoTokensNeeded() {
  const home = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title="Tokens">
      <EmptyState icon={<KeyRound />} action={home}>
        This service runs without logins, and its API needs no tokens.
      </EmptyState>
    </Page>
  );
}

function TokenCell({ token: { name, hint } }: { token: Token }) {
  return (
    <>
      <TruncatedText text={name} className="font-medium" />
      <span className="font-mono text-xs text-muted">…{hint}</span>
    </>
  );
}

function ScopeBadges({ token: { scopes } }: { token: Token }) {
  return (
    <span className="inline-flex flex-wrap gap-1">
      {scopes.map((scope) => (
        <Badge key={scope} tone={scope === 'admin' || scope === 'approve' ? 'warn' : 'plain'}>
          {scope}
        </Badge>
      ))}
    </span>
  );
}

function TokenCard({ token }: { token: Token }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <TokenCell token={token} />
        <ScopeBadges token={token} />
        <div className="text-[13px] text-muted">
          {token.expires_at ? (
            <>
              Expires <Time at={token.expires_at} />
            </>
          ) : (
            'Does not expire'
          )}
        </div>
      </div>
      <DeleteToken token={token} />
    </div>
  );
}
