import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useId, useRef, type ReactNode } from "react";
import { ApiError, send } from "../../api/client";
import { parse } from "../../api/json";
import { may, me } from "../../api/queries";
import { say } from "../../ui/live";
import { Copy } from "../../ui/parts";

// What the pages of routes/govern share: forms in dialogs, with the server's faults beside their fields.

const Faults = createContext<ApiError | undefined>(undefined);

const failure = (error: unknown): ApiError | undefined =>
  error ? (error instanceof ApiError ? error : new ApiError("internal", 0, "The request could not be sent.")) : undefined;

// FormDialog asks for something and sends it. It stays open, with what is wrong, where the server refuses.
export function FormDialog({ title, about, action, danger, wide, onSend, onDone, onClose, children, disabled }: {
  title: string;
  about?: ReactNode;
  action: string;
  danger?: boolean;
  wide?: boolean;
  disabled?: boolean;
  onSend: () => Promise<unknown>;
  onDone?: () => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const sending = useMutation({
    mutationFn: onSend,
    onSuccess: () => (onDone ?? onClose)(),
  });
  const error = failure(sending.error);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={wide ? "dialog form-dialog wide" : "dialog form-dialog"}>
          <Dialog.Title>{title}</Dialog.Title>
          {about && <Dialog.Description>{about}</Dialog.Description>}
          <form noValidate={false} onSubmit={(e) => {
            e.preventDefault();
            e.stopPropagation(); // The dialog may be opened from within another form.
            sending.mutate();
          }}>
            <Faults.Provider value={error}>{children}</Faults.Provider>
            {error && <p className="error" role="alert">{error.detail}</p>}
            <div className="actions">
              <Dialog.Close className="button" type="button">Cancel</Dialog.Close>
              <button type="submit" className={danger ? "button danger" : "button primary"} disabled={disabled || sending.isPending}>{action}</button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

// Field is a labelled part of a form. path is where it is in the body of the request: faults of the server
// that name it, or what is in it, are beside it.
export function Field({ label, hint, path, children }: { label: string; hint?: ReactNode; path?: string; children: (props: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode }) {
  const id = useId();
  const error = useContext(Faults);
  const faults = (path && error?.faults.filter((f) => f.path && (f.path.replace(/^\//, "") === path || f.path.replace(/^\//, "").startsWith(path + "/")))) || [];
  const described = hint || faults.length > 0 ? `${id}-d` : undefined;
  return (
    <div className="ask">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(described && { "aria-describedby": described }), ...(faults.length > 0 && { "aria-invalid": true as const }) })}
      {described && (
        <span id={described}>
          {hint && <span className="muted">{hint}</span>}
          {faults.map((f) => <span key={f.path + f.detail} className="error ask-fault">{f.detail}</span>)}
        </span>
      )}
    </div>
  );
}

// Confirm asks before something that is not taken back.
export function Confirm({ title, action, onSend, onClose, children }: { title: string; action: string; onSend: () => Promise<unknown>; onClose: () => void; children: ReactNode }) {
  const back = useRef<HTMLButtonElement>(null);
  const sending = useMutation({ mutationFn: onSend, onSuccess: onClose });
  const error = failure(sending.error);
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" initialFocus={back}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{children}</AlertDialog.Description>
          {error && <p className="error" role="alert">{error.detail}</p>}
          <div className="actions">
            <AlertDialog.Close ref={back} className="button">Back</AlertDialog.Close>
            <button type="button" className="button danger" disabled={sending.isPending} onClick={() => sending.mutate()}>{action}</button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

// Secret shows a secret that the server has shown this once. It is in the memory of the page alone.
export function Secret({ title, secret, children, onClose }: { title: string; secret: string; children: ReactNode; onClose: () => void }) {
  return (
    <AlertDialog.Root open>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{children}</AlertDialog.Description>
          <p className="command secret">
            <code tabIndex={0}>{secret}</code>
            <Copy text={secret} label="Copy the secret" />
          </p>
          <div className="actions">
            <button type="button" className="button primary" onClick={onClose}>I have kept it</button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

// useMay says whether the key has a permission.
export function useMay(tenant: string): (permission: string) => boolean {
  const { data } = useQuery(me(tenant));
  return (permission) => may(data, permission);
}

// Allowed shows an action, or which permission it takes.
export function Allowed({ may: has, permission, children }: { may: (p: string) => boolean; permission: string; children: ReactNode }) {
  if (has(permission)) return <>{children}</>;
  return <span className="muted">needs <code>{permission}</code></span>;
}

// tagged returns an answer with the ETag that names its state, for If-Match.
export async function tagged<T>(tenant: string, path: string): Promise<{ body: T; etag: string }> {
  const answer = await send(tenant, path, {}, "application/json");
  return { body: parse(await answer.text()) as T, etag: answer.headers.get("ETag") ?? "" };
}

// done announces what was done to those who do not see it.
export const done = <T,>(text: string) => (v: T): T => (say(text), v);

// once is an idempotency key, for a request that must not be made twice.
export const once = (): Record<string, string> => ({ "Idempotency-Key": crypto.randomUUID() });

// toLocal is a time as a person of this time zone writes it into a field; "" for none.
export const toLocal = (at: string | undefined): string => {
  if (!at) return "";
  const d = new Date(at);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
export const fromLocal = (text: string): string | undefined => (text ? new Date(text).toISOString() : undefined);

export { Subject } from "../../ui/subject";
