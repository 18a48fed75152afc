import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { tokens } from '../../api/tokens.ts';
import type { Token } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ButtonLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { DeleteToken } from './delete.tsx';
import { TokenForm } from './form.tsx';
import { Reveal } from './reveal.tsx';

const COLUMNS: readonly Column<Token>[] = [
  { name: 'Name', cell: (token) => <Name token={token} /> },
  { name: 'Scopes', className: 'w-52', cell: (token) => <Scopes token={token} /> },
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
  return isTeam ? <MyTokens /> : <NoNeed />;
}

function MyTokens() {
  const [isCreating, setCreating] = useState(false);
  // The one place where the value is, from the answer until it is stored.
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
      lead="Programs use the API in your name with a token. What you may not do, it may not either."
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
          <Empty icon={<KeyRound />} action={create}>
            You have no token yet. Tokens are created here, with a login, and never with a token.
          </Empty>
        }
      />
      <Dialog open={isCreating} onClose={() => setCreating(false)} title="New token">
        <TokenForm
          onMade={(made) => {
            setCreating(false);
            setValue(made);
          }}
        />
      </Dialog>
      {value !== undefined && <Reveal value={value} onDone={() => setValue(undefined)} />}
    </Page>
  );
}

function NoNeed() {
  const home = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title="Tokens">
      <Empty icon={<KeyRound />} action={home}>
        Nobody logs in here, and the API asks for no token.
      </Empty>
    </Page>
  );
}

function Name({ token: { name, hint } }: { token: Token }) {
  return (
    <>
      <Cut text={name} className="font-medium" />
      <span className="font-mono text-xs text-muted">…{hint}</span>
    </>
  );
}

function Scopes({ token: { scopes } }: { token: Token }) {
  return (
    <span className="inline-flex flex-wrap gap-1">
      {scopes.map((scope) => (
        <Badge key={scope} tone={scope === 'admin' ? 'warn' : 'plain'}>
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
        <Name token={token} />
        <Scopes token={token} />
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
