import { literal } from './quoting.ts';

export const goSender = (url: string) => `// go run send.go '{"event": "hello"}'   (standard library)
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

const url = ${literal(url)}

func send(secret string, body []byte) (string, error) {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	digest := sha256.Sum256(body)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + hex.EncodeToString(digest[:])))

	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-WEBHOOK-TIMESTAMP", timestamp)
	request.Header.Set("X-WEBHOOK-SIGNATURE", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return string(answer), err
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	body := \`{"event": "hello"}\`
	if len(os.Args) > 1 {
		body = os.Args[1]
	}
	answer, err := send(secret, []byte(body))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}
`;
