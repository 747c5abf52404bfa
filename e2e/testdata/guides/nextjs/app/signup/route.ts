import { codes } from '../../lib/codes';
import { mail } from '../../lib/mail';

export async function POST(request: Request) {
  const { email } = await request.json();
  const code = String(Math.floor(100000 + Math.random() * 900000));
  codes.set(email, code);
  await mail.sendMail({
    from: 'shop@example.com', to: email,
    subject: 'Confirm your address', text: `Your confirmation code is ${code}.`,
  });
  return new Response();
}
