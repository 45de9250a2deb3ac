# A receiver's check of one delivery, with Ruby's own library alone. Reads {secret, headers, body} (body in base64) from
# standard input; prints "ok", or what does not hold.
require "json"
require "openssl"

Encoding.default_external = Encoding::UTF_8
asked = JSON.parse($stdin.read)
secret, headers, raw = asked["secret"], asked["headers"], asked["body"].unpack1("m0")

def hmac(key, text) = OpenSSL::HMAC.digest("SHA256", key, text)

# RFC 8785 for what deliveries hold: members in the order of their names' UTF-16 code units.
def canonical(value)
  case value
  when Hash
    members = value.sort_by { |name, _| name.encode("UTF-16BE").unpack("n*") }
    "{" + members.map { |name, one| "#{JSON.generate(name)}:#{canonical(one)}" }.join(",") + "}"
  when Array then "[" + value.map { |one| canonical(one) }.join(",") + "]"
  else JSON.generate(value)
  end
end

problems = []
payload = JSON.parse(raw.dup.force_encoding("UTF-8"))
given, timestamp = payload.delete("_webhook_signature"), payload.delete("_webhook_timestamp")
problems << "body" unless hmac(secret, "#{timestamp}:#{canonical(payload)}").unpack1("H*") == given

outside = "sha256=" + hmac(secret, raw).unpack1("H*")
problems << "X-Webhook-Signature" unless outside == headers["X-Webhook-Signature"]

key = secret.start_with?("whsec_") ? secret.delete_prefix("whsec_").unpack1("m") : secret
signed = "#{headers["webhook-id"]}.#{headers["webhook-timestamp"]}.".b + raw
standard = "v1," + [hmac(key, signed)].pack("m0")
problems << "webhook-signature" unless headers["webhook-signature"].split(" ").include?(standard)

puts problems.empty? ? "ok" : problems.join(", ")
