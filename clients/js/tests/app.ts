import { createServer, type Server } from 'node:http';
import { createTransport } from 'nodemailer';

/** Sends a mail by SMTP. */
export async function send(smtp: string, to: string, subject: string, text: string): Promise<void> {
  await createTransport(`smtp://${smtp}`).sendMail({ from: 'Acme <no-reply@acme.example>', to, subject, text });
}

/** The text of a mail with a code and a link that has it. */
export const signup = (code: string) =>
  `Your verification code is ${code}.\n\nConfirm your e-mail address: https://acme.example/confirm?t=${code}\n`;

/** A site with forms for an address and for the code that it mails there. */
export function site(smtp: string): Server {
  let sent = '';
  return createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://site');
    response.setHeader('Content-Type', 'text/html');
    if (pathname === '/send') {
      sent = String(Math.floor(100_000 + Math.random() * 900_000));
      await send(smtp, searchParams.get('address')!, 'Your code', signup(sent));
      response.end('<form action=/confirm><label>Code <input name=code></label><button>Confirm</button></form>');
    } else if (pathname === '/confirm') {
      response.end(searchParams.get('code') === sent ? 'Welcome' : `not ${sent}`);
    } else {
      response.end('<form action=/send><label>E-mail <input name=address></label><button>Sign up</button></form>');
    }
  });
}
