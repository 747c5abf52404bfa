import { codes } from '../../lib/codes';

export async function POST(request: Request) {
  const { email, code } = await request.json();
  return new Response(null, { status: codes.get(email) === code ? 200 : 403 });
}
